import type { RunUsage } from '@meup/folds'

/** Sum of input and output tokens; output includes reasoning. */
export const countTokens = ({ tokens: { input = 0, output = 0 } }: Pick<RunUsage, 'tokens'>): number =>
  input + output

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Formats a count: `812`, `12.3K`; `''` for 0. */
export const tokensText = (count: number): string => (count === 0 ? '' : compact.format(count))

/** Formats dollars: `$0.42`, `$0.0031`. */
export const costText = (dollars: number): string => `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`
