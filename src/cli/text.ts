/** The words that the command line and the extension share. */
export * from "../platform/text.ts";
