export {
  type Deed,
  type ModelRequest,
  type ScriptedModel,
  type ScriptedModelOptions,
  scriptedModel,
} from './scripted-model.js'
