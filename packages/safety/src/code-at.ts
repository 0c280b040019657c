const { charCodeAt } = String.prototype

/**
 * The code of a character, for loops over all of a text: V8 keeps strings in many forms, and a loop that has met several
 * of them looks up the method of each character anew; here it is at hand.
 */
export const codeAt = (text: string, at: number): number => charCodeAt.call(text, at)
