/** Matches Markdown that makes a viewer fetch an image, open a link, run HTML, or resolve a reference. */
const active = /!(?=\[)|\](?=[(:[])|<(?=[a-z/!?])/gi

/**
 * Replacements that display the same character without its meaning. `<` becomes an entity, because a backslash before it could
 * itself be escaped.
 */
const inert: Readonly<Record<string, string>> = { '!': '!\\', ']': ']\\', '<': '&lt;' }

/** Disables Markdown of participants: images, links, their definitions and HTML tags are displayed as text. */
export const inertMarkdown = (text: string): string => text.replace(active, (found) => inert[found] ?? found)

/** Writes a text as one paragraph: further lines become a block quote, so that no line can pass for a paragraph of ours. */
export const quoteFurtherLines = (text: string): string => text.replace(/\n/g, '\n> ').replace(/ +$/gm, '')
