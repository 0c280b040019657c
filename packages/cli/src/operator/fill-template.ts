import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseDocument, stringify, visit } from 'yaml'
import {
  localURL,
  type ModelChoice,
  type Names,
  providers,
  type TemplateName,
  templates,
} from './templates.js'

/** The files of a new space, by relative path. Versions in package.json are still missing. */
export function fillTemplate(name: TemplateName, names: Names, model?: ModelChoice): Record<string, string> {
  const { gitignore = '', ...files } = { ...readFolder('shared'), ...readFolder(name) }
  const { 'space.yaml': space = '', 'package.json': manifest = '', '.mcp.json': clients } = files
  const rename = (json: string): string => json.replace('"demo"', JSON.stringify(names.space))
  return {
    ...files,
    '.gitignore': gitignore,
    'package.json': rename(manifest.replace('openai-compatible', model?.provider ?? 'openai-compatible')),
    'space.yaml': renameIn(space, {
      demo: names.space,
      ana: names.person,
      [templates[name].agent]: names.agent,
      '127.0.0.1:8080': names.listen,
      ...(model?.key && { [localKey]: `\${${model.key}}` }),
    }),
    ...(clients !== undefined && { '.mcp.json': rename(clients) }),
    ...(model !== undefined && { 'model.ts': modelFile(model, files['model.ts'] ?? '') }),
  }
}

/** Participants of a template's space, other than the user and the agent. */
export function listOthers(name: TemplateName): string[] {
  const { participants } = parse(readFolder(name)['space.yaml'] ?? '') as { participants: object }
  return Object.keys(participants).filter((id) => id !== 'ana' && id !== templates[name].agent)
}

/** The API key in the template's space.yaml: empty if the variable is not set, since a local model may not need a key. */
const localKey = `\${MODEL_API_KEY:-}`

function modelFile({ provider, model, baseURL }: ModelChoice, local: string): string {
  const text = provider === 'openai-compatible' ? local : (readFolder('providers')[`${provider}.ts`] ?? '')
  return text
    .replace(`'${providers[provider].model}'`, () => `'${model}'`)
    .replace(`'${localURL}'`, () => `'${baseURL}'`)
}

const root = fileURLToPath(new URL('../../templates/', import.meta.url))

function readFolder(folder: string): Record<string, string> {
  const start = join(root, folder)
  return Object.fromEntries(
    readdirSync(start, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(start, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  )
}

/** Replaces words that are a whole YAML scalar, or its part before a slash; leaves the rest of the text unchanged. */
function renameIn(text: string, words: Readonly<Record<string, string>>): string {
  const edits: (readonly [from: number, to: number, name: string])[] = []
  visit(parseDocument(text), {
    Scalar(_, { value, range }) {
      if (typeof value !== 'string' || !range) return
      const [first = '', ...rest] = value.split('/')
      const name = words[first]
      if (name !== undefined && name !== first) edits.push([range[0], range[1], [name, ...rest].join('/')])
    },
  })
  return edits.reduceRight(
    (done, [from, to, name]) => done.slice(0, from) + stringify(name).trim() + done.slice(to),
    text,
  )
}
