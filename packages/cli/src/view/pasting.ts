import { stripVTControlCharacters } from 'node:util'

/** A terminal that knows it says where what is pasted begins and ends. */
export const [pasteOn, pasteOff] = ['\u001B[?2004h', '\u001B[?2004l']

/** Stands for a line's end within a line that is being edited; Unicode keeps it for use within a program. */
const lineEnd = '\uFDD0'
const controls = /[^\P{Cc}\t]/gu

/** What was pasted, as part of the one line that is edited. */
export const pasted = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r\n?|\n|\u2028|\u2029/g, lineEnd)
    .replace(controls, '')

/** An edited line as it is drawn: of the same length, on one row. */
export const onOneRow = (line: string): string => line.replaceAll(lineEnd, '↵').replaceAll('\t', ' ')

/** An edited line as it is sent, with the line ends that were pasted, but for those behind everything. */
export const withLineEnds = (line: string): string => line.replaceAll(lineEnd, '\n').replace(/\n+$/, '')
