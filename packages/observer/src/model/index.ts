export { readSettings, type Settings } from './arguments.js'
export { type CallSummary, summarizeCall, summarizeCalls } from './call-summary.js'
export {
  type CardContent,
  type CardPart,
  describeCard,
  SeenParts,
  summarizeProposal,
} from './card-content.js'
export { type Change, createComparison, type DiffLine, describeChange } from './change.js'
export { type CodeToken, colourLines, cutTokens } from './diff-colours.js'
export { markWords } from './diff-words.js'
export { explainEnvelope } from './explain.js'
export {
  everything,
  isFiltering,
  isSort,
  type ReaderFilter,
  type Sort,
  sortKinds,
  sortNames,
  sorts,
} from './filter/log-filter.js'
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
export { getLanguage } from './highlight-language.js'
export { hueOf, initialsOf } from './hues.js'
export { type Caution, judge, sortWaiting, type Waiting } from './inbox.js'
export { BrokenChain, ChainCheck, type CheckResult } from './log/chain-check.js'
export { GrantIndex, readCapabilities } from './log/grants.js'
export type { Log } from './log/log.js'
export type { Person, ReportedStatus } from './log/people.js'
export { type ToolInfo, toolEffects } from './log/tools.js'
export { getFullSize } from './log/truncate.js'
export {
  type Completion,
  completeName,
  findCompletion,
  findNames,
  type NamedPart,
  readCommand,
  unknownName,
} from './message.js'
export { type Part, resultParts, type TextPart, textPart, valuePart } from './parts.js'
export { Past } from './past.js'
export { type PageRoute, readRoute, writeRoute } from './route.js'
export type { Level } from './rows/folding.js'
export type { Lane, QuestionGroup } from './rows/lists.js'
export {
  countQuestion,
  getMessages,
  percentile,
  type Totals,
} from './rows/questions.js'
export type {
  BatchRow,
  CallRow,
  EndRow,
  HeadingRow,
  LogRow,
  MessagePart,
  MessageRow,
  MoreRow,
  ProposalRow,
  SaidRow,
  Slot,
} from './rows/row.js'
export { Layout, type RowList } from './rows/row-list.js'
export { getPartKey } from './rows/slots.js'
export { type TimeScale, timeScale } from './rows/time-scale.js'
export { getSpan, listThoughts, type TraceBar } from './rows/trace.js'
export { likenessOf } from './space-folds.js'
export { SpaceModel } from './space-model.js'
export { findDefinitions, findPart, splitText } from './split-text.js'
export { expiry, terms } from './terms.js'
export {
  ageText,
  areSameDay,
  clockText,
  countText,
  dateText,
  dayText,
  dropHalfLink,
  getText,
  momentText,
  namesHost,
  nameText,
  noRedaction,
  questionText,
  setHourCycle,
  sizeText,
  splitTarget,
  stripMarkdown,
  whenText,
} from './text.js'
