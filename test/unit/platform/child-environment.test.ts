import { expect, test } from "vitest";
import { cleanEnvironment } from "../../../src/platform/child-environment.ts";

test("an environment is handed on without what belongs to its launcher", () => {
  const env = {
    PATH: "/bin",
    FOO: "",
    PI_WORKFLOWS_HOME: "/state",
    PI_WORKFLOWS_TAG: "x.1.wrk_a",
    NODE_OPTIONS: "--inspect",
    NODE_V8_COVERAGE: "/tmp",
    npm_config_cache: "/x",
    npm_lifecycle_event: "test",
    INIT_CWD: "/y",
    ABSENT: undefined,
  };
  expect(cleanEnvironment(env)).toEqual({ PATH: "/bin", FOO: "", PI_WORKFLOWS_HOME: "/state" });
});
