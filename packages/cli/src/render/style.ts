import { colourStyle, plainStyle, type Style } from '@meup/folds'

/** Colours where stdout is a terminal that has them, unless NO_COLOR asks for none. */
export const styleOfStdout = (): Style =>
  process.stdout.isTTY && process.stdout.hasColors() ? colourStyle : plainStyle
