/** What makes a viewer of Markdown fetch an image, run a script from a link or from HTML, or look up an address elsewhere. */
const active = /!(?=\[)|\](?=[(:[])|<(?=[a-z/!?])/gi

/** Each with what takes its meaning away, and is shown as the character itself. A backslash before `<` could be escaped in turn. */
const inert: Readonly<Record<string, string>> = { '!': '!\\', ']': ']\\', '<': '&lt;' }

/**
 * Markdown from others of which a viewer fetches nothing, and in which no link and no HTML is left: images, links, their
 * definitions and tags stand as they are written.
 */
export const inertMarkdown = (text: string): string => text.replace(active, (found) => inert[found] ?? found)

/** A text as a paragraph, of which every further line is a block quote: none can be taken for a paragraph of ours. */
export const quoteFurtherLines = (text: string): string => text.replace(/\n/g, '\n> ').replace(/ +$/gm, '')
