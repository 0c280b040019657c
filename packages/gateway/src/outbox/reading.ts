/** Told of what was looked at and is not shown, in characters: it has to be paid for as well [MEUP-7.8]. */
export type Passed = (characters: number) => void

/** Characters for a step that is not shown. */
export const charactersOfStep = 128
