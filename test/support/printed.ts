import { stripVTControlCharacters } from 'node:util'

/** How a terminal is made to have room for what will be typed. */
const room = ' \u001B[1G'

/** The lines that a terminal has printed, without what moves its cursor. */
export const printed = (all: string): string =>
  stripVTControlCharacters(all.replaceAll(room, '')).replaceAll('\r\n', '\n')
