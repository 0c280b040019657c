export {
  type Capabilities,
  compileCapabilities,
  compilePattern,
  type Decision,
  holdsLiteral,
} from './compile.js'
export { Coverage, covers } from './covers.js'
export { checkMetered, checkWithin } from './effort.js'
export { Capability, Pattern, PatternError, PayloadPattern, patternLimits } from './pattern.js'
export type { Subject } from './program.js'
