export * from './content.js'
export { everything, type Filter, isFiltering, isSort, type Sort, sorts } from './filter/log-filter.js'
export type { Hit } from './filter/search.js'
export {
  type Cut,
  hasHidden,
  isAllHidden,
  isCutAway,
  isCutting,
  nothingCut,
  toggled,
  toSubscribePayload,
} from './filter/visibility.js'
export { BrokenChain, ChainCheck, type CheckResult } from './log/chain-check.js'
export { capabilityText, GrantIndex, readCapabilities } from './log/grants.js'
export type { Log } from './log/log.js'
export type { Person, Status } from './log/people.js'
export { getFullSize } from './log/truncate.js'
export { Past } from './past.js'
export { type Route, readRoute, writeRoute } from './route.js'
export type { Level } from './rows/folding.js'
export type { Lane } from './rows/lanes.js'
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
  Slot,
} from './rows/row.js'
export { Layout, type RowList } from './rows/row-list.js'
export { getSpan, type Span, type TimeScale, timeScale } from './rows/waterfall.js'
export { SpaceModel } from './space-model.js'
export {
  clockText,
  countText,
  hashToBucket,
  indentJson,
  momentText,
  namesHost,
  nameText,
  sizeText,
  tickText,
} from './text.js'
