import { stripVTControlCharacters } from 'node:util'

/** Replaces line ends of pasted text, since readline would submit the line; a Unicode noncharacter. */
export const lineEnd = '\uFDD0'
const controls = /[^\P{Cc}\t]/gu

/** Maximum lines and characters of a paste that is shown in full; longer pastes are shown as a placeholder. */
const [maxLines, maxChars] = [8, 1500]
/** Maximum number of kept pastes; placeholders of older ones are sent as they are. */
const maxKept = 100

/** Pasted texts of the input line, which shows long ones as `[pasted 200 lines]`. */
export class Pastes {
  /** Pasted texts, by placeholder. */
  readonly #texts = new Map<string, string>()

  /** Adds a pasted text; returns the text to insert: the paste itself, or its placeholder. */
  add(text: string): string {
    const encoded = this.encode(text)
    const lines = encoded.split(lineEnd).length
    if (lines <= maxLines && encoded.length <= maxChars) return encoded
    const size = lines > 1 ? `${lines} lines` : `${encoded.length} characters`
    const name = this.#findName(size, encoded)
    this.#texts.set(name, encoded)
    if (this.#texts.size > maxKept) this.#texts.delete(this.#texts.keys().next().value ?? '')
    return name
  }

  /** Encodes text for the input line: without control characters, with encoded line ends. */
  encode(text: string): string {
    return stripVTControlCharacters(text)
      .replace(/\r\n?|\n|\u2028|\u2029/g, lineEnd)
      .replace(controls, '')
  }

  /** Decodes an input line: expands pastes, and removes trailing line ends. */
  decode(line: string): string {
    const whole = line.replace(/\[pasted [^\]]*\]/g, (name) => this.#texts.get(name) ?? name)
    return whole.replaceAll(lineEnd, '\n').replace(/\n+$/, '')
  }

  #findName(size: string, text: string): string {
    for (let number = 1; ; number++) {
      const name = number === 1 ? `[pasted ${size}]` : `[pasted ${size} #${number}]`
      if ((this.#texts.get(name) ?? text) === text) return name
    }
  }
}

/** The input line for display: tabs become spaces, so that its length is unchanged. */
export const toDisplay = (line: string): string => line.replaceAll('\t', ' ')
