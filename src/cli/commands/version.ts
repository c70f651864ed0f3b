import { packageVersion } from "../../platform/package-info.ts";
import type { Command } from "../command.ts";
import { ExitCode } from "../exit-codes.ts";

export const command: Command = {
  description: "Prints the version of this program.",
  examples: [["version --json", "as JSON, with the version of Node.js"]],
  async run(_args, { out, json }) {
    const version = packageVersion();
    if (json) out.json({ version, node: process.version });
    else out.line(version);
    return await Promise.resolve(ExitCode.success);
  },
};
