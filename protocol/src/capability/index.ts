export {
  type Capabilities,
  compileCapabilities,
  compilePattern,
  type Decision,
  holdsLiteral,
  type Subject,
} from './compile.js'
export { Coverage, covers } from './covers.js'
export { Capability, Pattern, PatternError, PayloadPattern, patternLimits } from './pattern.js'
