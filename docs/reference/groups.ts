import { readFileSync } from 'node:fs'
import { type Application, Comment, CommentTag, Converter } from 'typedoc'
import { listExports } from '../../scripts/list-exports.js'

const groups = listExports(
  readFileSync(new URL('../../packages/agent-sdk/src/index.ts', import.meta.url), 'utf8'),
)

/** Groups the exports of the SDK's main entry by the comments in its file. */
export function load(app: Application): void {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    if (project.packageName !== '@meup/agent-sdk') return
    app.options.setValue('groupOrder', [...groups.map(({ name }) => name), '*'])
    const main = project.children?.find(({ name }) => name === '')
    for (const each of main?.children ?? []) {
      const group = groups.find(({ exports }) => exports.includes(each.name))
      if (group === undefined) throw new Error(`${each.name} is in no group of the main entry`)
      each.comment ??= new Comment()
      each.comment.blockTags.push(new CommentTag('@group', [{ kind: 'text', text: group.name }]))
    }
  })
}
