import { stripVTControlCharacters } from 'node:util'

/** Represents a line end within the edited line; a Unicode noncharacter, reserved for internal use. */
export const lineEnd = '\uFDD0'
const controls = /[^\P{Cc}\t]/gu

/** A paste of more lines or characters is shown by its size. */
const [maxLines, maxChars] = [8, 1500]
/** Number of kept pastes; a line with an older one only shows its size. */
const maxKept = 100

/** Texts that were pasted into the input line, which shows long pastes as `[pasted 200 lines]`. */
export class Pastes {
  /** Pasted texts by their placeholders. */
  readonly #texts = new Map<string, string>()

  /** Adds a pasted text; returns its placeholder for the line. */
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

  /** A text as part of the line. */
  encode(text: string): string {
    return stripVTControlCharacters(text)
      .replace(/\r\n?|\n|\u2028|\u2029/g, lineEnd)
      .replace(controls, '')
  }

  /** The text of a line: with its pastes, and without line ends at its end. */
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

/** The edited line for display: same length, tabs as spaces. */
export const toDisplay = (line: string): string => line.replaceAll('\t', ' ')
