import { indentJson } from '@meup/folds'
import { getNumberText, stringifyExact } from '@meup/protocol'
import type { Ref, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Part, type Settings, sizeText, type TextPart } from '../../model/index.js'
import { Code } from './code.js'
import { DiffView, maxFoldedLines } from './diff-view.js'
import { End } from './parts.js'
import { TableBox } from './table-box.js'

/** A part of a call's arguments or result. `isWhole`: not folded, whatever its length. */
export function ContentPart({ part, isWhole }: { part: Part; isWhole: boolean }): VNode {
  switch (part.type) {
    case 'text':
      return <TextContent part={part} isWhole={isWhole} />
    case 'diff':
      return <DiffView {...part} isWhole={isWhole} />
    case 'json':
      return <JsonTree value={part.value} isWhole={isWhole} />
    case 'table':
      return <TableView {...part} />
    case 'media':
      return <Media {...part} />
    case 'link':
      return (
        <p class="said">
          {part.name} <code dir="ltr">{part.uri}</code>
        </p>
      )
  }
}

/** Maximum characters of a folded text. */
const maxChars = 4000

/** Whether a part is long, so that it is folded at first. */
export function isLongPart(part: Part): boolean {
  if (part.type === 'text') return beginning(part.text) !== part.text
  if (part.type === 'diff') return part.lines.length > maxFoldedLines
  return part.type === 'json' && hasManyMembers(part.value)
}

const hasManyMembers = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value)
    .concat([value])
    .some((each) => typeof each === 'object' && each !== null && Object.keys(each).length > maxMembers)

function beginning(text: string): string {
  const lines = text.split('\n', maxFoldedLines + 1)
  return (lines.length > maxFoldedLines ? lines.slice(0, maxFoldedLines).join('\n') : text).slice(0, maxChars)
}

const TextContent = ({ part: { text, language }, isWhole }: { part: TextPart; isWhole: boolean }): VNode => (
  <pre class="code" dir="auto">
    <Code text={isWhole ? text : beginning(text)} language={language} />
  </pre>
)

/** Arguments as a list of names and texts. */
export const SettingsView = ({ list, box }: { list: Settings; box?: Ref<HTMLDivElement> }): VNode => (
  <div ref={box ?? null}>
    <dl class="settings">
      {list.map(([name, text]) => (
        <div key={name} class={name === 'command' ? 'command' : ''}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
    <End />
  </div>
)

function TableView({
  columns,
  rows,
}: {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}): VNode {
  return (
    <TableBox>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </TableBox>
  )
}

/** Image types that cannot contain scripts. */
const images: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function Media({ mimeType, data }: { mimeType: string; data: string }): VNode {
  const [url, setUrl] = useState<string | undefined>()
  const isImage = images.has(mimeType)
  useEffect(() => {
    const made = isImage ? toUrl(data, mimeType) : undefined
    setUrl(made)
    return () => made !== undefined && URL.revokeObjectURL(made)
  }, [data, mimeType])
  const size = sizeText(Math.floor((data.replace(/=+$/, '').length * 3) / 4))
  if (url === undefined) {
    return (
      <p class="dim">
        {mimeType}, {size}
      </p>
    )
  }
  return <img class="result-image" src={url} alt={`${mimeType}, ${size}`} onError={() => setUrl(undefined)} />
}

function toUrl(base64: string, type: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return URL.createObjectURL(new Blob([bytes], { type }))
  } catch (error) {
    console.info('an image could not be read:', error)
    return undefined
  }
}

/** Maximum characters of JSON that is shown as text instead of a tree, and maximum members per level of a tree. */
const [maxOpenChars, maxMembers] = [600, 100]
/** Maximum depth of the tree; deeper values are shown as text. */
const maxDepth = 12

/** JSON as a foldable tree; a short value as text. */
function JsonTree({ value, isWhole }: { value: unknown; isWhole: boolean }): VNode {
  const json = stringifyExact(value) ?? 'null'
  if (typeof value !== 'object' || value === null || json.length <= maxOpenChars) {
    return (
      <pre class="code" dir="ltr">
        {indentJson(json)}
      </pre>
    )
  }
  return (
    <div class="code json" dir="ltr">
      <Members of={value} depth={0} isWhole={isWhole} />
    </div>
  )
}

interface MembersProps {
  readonly of: object
  readonly depth: number
  readonly isWhole: boolean
}

function Members({ of, depth, isWhole }: MembersProps): VNode {
  const members = Object.entries(of)
  const shown = isWhole ? members : members.slice(0, maxMembers)
  return (
    <ul>
      {shown.map(([name, value]) => (
        <li key={name}>
          <Member
            name={Array.isArray(of) ? name : JSON.stringify(name)}
            value={value}
            digits={getNumberText(of, name)}
            depth={depth}
            isWhole={isWhole}
          />
        </li>
      ))}
      {shown.length < members.length && <li class="dim">… {members.length - shown.length} more</li>}
    </ul>
  )
}

interface MemberProps {
  readonly name: string
  readonly value: unknown
  /** The number as sent, if JavaScript would format it differently. */
  readonly digits: string | undefined
  readonly depth: number
  readonly isWhole: boolean
}

function Member({ name, value, digits, depth, isWhole }: MemberProps): VNode {
  const [isOpen, setOpen] = useState(false)
  const label = <span class="json-name">{indentJson(name)}: </span>
  if (typeof value !== 'object' || value === null || depth >= maxDepth || Object.keys(value).length === 0) {
    return (
      <>
        {label}
        <span class={`json-${typeof value}`}>{indentJson(digits ?? stringifyExact(value) ?? 'null')}</span>
      </>
    )
  }
  const count = Object.keys(value).length
  return (
    <>
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'} </span>
        {label}
        <span class="dim">{Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
      </button>
      {isOpen && <Members of={value} depth={depth + 1} isWhole={isWhole} />}
    </>
  )
}
