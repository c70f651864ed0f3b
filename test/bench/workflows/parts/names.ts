/** What the first node calls its mark. */
export const BEGUN = "begun";
