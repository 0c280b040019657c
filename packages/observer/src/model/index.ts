export { BrokenChain, ChainCheck, type Checked } from './chain-check.js'
export { type Cut, isCutAway, isCutting, nothingCut, subscriptionOf, toggled } from './cut.js'
export { everything, type Filter, isFiltering, isSort, type Sort, sorts } from './filter.js'
export type { Level } from './folding.js'
export { bucketOf, clockText, countText, durationText, momentText, sizeText, tickText } from './format.js'
export { sizeOf } from './heavy.js'
export { hasHidden, isAllHidden } from './hiding.js'
export { indentJson } from './json-text.js'
export type { Lane } from './lanes.js'
export type { Log } from './log.js'
export { Past } from './past.js'
export type { Person, Status } from './people.js'
export { type Route, readRoute, writeRoute } from './route.js'
export type {
  BatchRow,
  CallRow,
  EndRow,
  HeadingRow,
  MessageRow,
  MoreRow,
  ProposalRow,
  Row,
  SaidRow,
} from './row.js'
export type { RowList } from './row-list.js'
export type { Hit } from './search.js'
export type { Slot } from './slot.js'
export { SpaceModel } from './space-model.js'
export { namesHost, nameText } from './text.js'
export { type TimeScale, timeScale } from './time-scale.js'
export { capabilityText, readCapabilities, Trust } from './trust.js'
export { type Span, spanOf } from './waterfall.js'
export { Layout } from './window.js'
