import { describe, expect, test } from "vitest";
import { drawPlot } from "../../soak/plot.ts";
import type { Plot } from "../../soak/plot.ts";

const PLOT: Plot = {
  title: "Soak of <two> & more",
  times: [0, 60_000, 120_000, 180_000],
  panels: [
    {
      title: "Memory",
      unit: "MB",
      series: [{ name: "RSS", colour: "green", values: [0, 50, undefined, 100] }],
    },
  ],
  marks: [
    { atMs: 90_000, name: "host killed" },
    { atMs: 30_000, name: "worker killed" },
  ],
  markStyles: [
    { name: "host killed", colour: "red", through: true },
    { name: "worker killed", colour: "pink", through: false },
  ],
};

describe("a plot", () => {
  test("says what is drawn, in which units, and how often what happened", () => {
    const words = [...drawPlot(PLOT).matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(
      ([, one]) => one,
    );
    expect(words).toEqual(
      expect.arrayContaining([
        "Soak of &lt;two> &amp; more",
        "Memory in MB",
        "RSS",
        "100",
        "3",
        "time in minutes",
        "host killed (1)",
        "worker killed (1)",
      ]),
    );
  });

  test("draws values where they are, and no line over what is missing", () => {
    const [, path = ""] = / d="([^"]*)"/.exec(drawPlot(PLOT)) ?? [];
    expect(path).toMatch(/^M70\.0 220\.0L[\d.]+ 135\.0M[\d.]+ 50\.0$/);
  });

  test("draws what ends everything through all panels, at its time", () => {
    const lines = [...drawPlot(PLOT).matchAll(/<line x1="([\d.]+)"[^>]*stroke="(red|pink)"/g)];
    const killed = lines.filter(([, , colour]) => colour === "red").map(([, x]) => Number(x));
    expect(killed).toContain(70 + 900 / 2);
  });
});
