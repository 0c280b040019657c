import { colourStyle, type Style } from '@meup/folds'

/** Colours of names that can be told apart on light and dark; cyan is for tools. */
const colours = [32, 33, 34, 35, 31, 92, 94, 95] as const

/** Gives each participant a colour of its own as far as they go, where there are colours. */
export const highlighting =
  (style: Style) =>
  (name: string, id: string): string =>
    style === colourStyle ? `\u001B[1;${colours[hashOf(id) % colours.length]}m${name}\u001B[0m` : name

/** Makes what is not being typed stand back, where there are colours. */
export const dimming =
  (style: Style) =>
  (text: string): string =>
    style === colourStyle ? `\u001B[2m${text}\u001B[0m` : text

function hashOf(text: string): number {
  let hash = 7
  for (let at = 0; at < text.length; at++) hash = (31 * hash + text.charCodeAt(at)) >>> 0
  return hash
}
