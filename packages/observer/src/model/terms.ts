/** Offered durations of a grant, in minutes. */
export const terms = [
  ['', 'until it is revoked'],
  ['15', 'for 15 minutes'],
  ['60', 'for an hour'],
  ['480', 'for 8 hours'],
  ['10080', 'for a week'],
] as const

/** Expiry of a grant that begins now. `now`: gateway time in ms. */
export const expiry = (minutes: string, now: number): { readonly expiresAt?: string } =>
  minutes === '' ? {} : { expiresAt: new Date(now + Number(minutes) * 60_000).toISOString() }
