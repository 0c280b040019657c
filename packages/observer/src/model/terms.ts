/** How long a grant lasts, in minutes. */
export const terms = [
  ['', 'until it is revoked'],
  ['15', 'for 15 minutes'],
  ['60', 'for an hour'],
  ['480', 'for 8 hours'],
  ['10080', 'for a week'],
] as const

/** The pattern that matches only this text [MEUP-4.3]. */
export function escapeGlob(text: string): string {
  const plain = text.replace(/[*?\\]/g, '\\$&')
  return /^(?:!|re:|\/.*\/$)/s.test(plain) ? `\\${plain}` : plain
}
