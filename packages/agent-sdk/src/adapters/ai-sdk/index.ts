export type { AgentOptions, Limits, ReasoningDetail } from '../../model/options.js'
export type { SpaceTool } from '../../model/tool-names.js'
export type { ToolChoice } from '../../model/toolbox.js'
export type { ModelOptions, ModelSettings } from './ai-dialogue.js'
export { type ModelAgentOptions, runAgent } from './run-agent.js'
export {
  type Deed,
  type ModelRequest,
  type ScriptedModel,
  type ScriptedModelOptions,
  scriptedModel,
} from './scripted-model.js'
