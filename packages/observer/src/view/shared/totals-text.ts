import type { RunUsage } from '@meup/folds'

/** Input and output tokens, including reasoning. */
export const countTokens = ({ tokens: { input = 0, output = 0 } }: Pick<RunUsage, 'tokens'>): number =>
  input + output

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** `812`, `12.3K`; `''` = none. */
export const tokensText = (count: number): string => (count === 0 ? '' : compact.format(count))

/** `$0.42`, `$0.0031` */
export const costText = (dollars: number): string => `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`
