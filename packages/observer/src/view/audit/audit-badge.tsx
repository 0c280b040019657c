import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { LogCheck } from '../../connect/log-check.js'
import { countText } from '../../model/index.js'
import { CloseDialog, Dialog } from '../shared/dialog.js'
import { Alert, CopyButton } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** Shows the result of verifying the log in this page. */
export function AuditBadge({ check, space }: { check: LogCheck; space: string }): VNode {
  const [isOpen, setOpen] = useState(false)
  const { mark, text, tone } = getBadge(check)
  return (
    <>
      <button
        type="button"
        class={`audit ${tone}`}
        aria-haspopup="dialog"
        title="The hash chain of the log, computed in this page"
        onClick={() => setOpen(true)}
      >
        audit {mark !== '' && <span aria-hidden="true">{mark} </span>}
        {text}
      </button>
      {isOpen && <AuditDetails check={check} space={space} close={() => setOpen(false)} />}
    </>
  )
}

interface Badge {
  readonly mark: string
  readonly text: string
  readonly tone: 'good' | 'bad' | 'warn' | ''
}

function getBadge(check: LogCheck): Badge {
  const { state, checked, progress, rest } = check
  switch (state.at) {
    case 'broken':
      return {
        mark: '✗',
        tone: 'bad',
        text: state.seq === undefined ? 'does not match' : `wrong from #${state.seq}`,
      }
    case 'unknown':
      if (checked === undefined) return { mark: '?', tone: 'warn', text: 'not checked' }
      break
    case 'waiting':
      return { mark: '○', tone: '', text: state.isLong ? 'not checked' : '…' }
    case 'checking':
      if (checked === undefined) return { mark: '', tone: '', text: `${Math.floor(progress * 100)} %` }
  }
  const { head = 0 } = checked ?? {}
  const end = `#${check.getHash(head)?.slice(0, 4) ?? ''}`
  return { mark: '✓', tone: 'good', text: rest > 0 ? `${end}, ${rest.toLocaleString('en')} unverified` : end }
}

function AuditDetails({ check, space, close }: { check: LogCheck; space: string; close: () => void }): VNode {
  const { state, checked } = check
  return (
    <Dialog kind="audit-details" label="Audit" close={close}>
      <h2>Audit of {space}</h2>
      {state.at === 'broken' && (
        <Alert>
          {state.seq !== undefined && `#${state.seq}: `}
          {state.problem}. Export the log, and ask the operator: <code>meup audit verify</code>
        </Alert>
      )}
      {state.at === 'unknown' && <p class="warn">It could not be checked: {state.problem}</p>}
      {state.at === 'waiting' && state.isLong && (
        <p>This log is long: checking it takes a while, so it is done only when you ask for it.</p>
      )}
      {checked !== undefined && <Checks {...{ checked, head: check.getHash(checked.head) ?? '' }} />}
      <p class="dim">
        This page asks the gateway for the export of the log, computes each hash itself, and compares what the
        log has with what you were shown. It cannot show whether this log is the only one: keep a head
        elsewhere.
      </p>
      <footer>
        <button type="button" disabled={state.at === 'checking'} onClick={() => void check.recheck()}>
          {state.at === 'checking' ? `Checking… ${Math.floor(check.progress * 100)} %` : 'Check again'}
        </button>
        <DownloadButton format="markdown" />
        <DownloadButton format="jsonl" />
        <CloseDialog />
      </footer>
    </Dialog>
  )
}

/** The verified range, and numbers of read and compared envelopes. */
function Checks({ checked, head: hash }: { checked: NonNullable<LogCheck['checked']>; head: string }): VNode {
  const { first, head, read, compared } = checked
  const all = Math.max(head - first + 1, 0)
  return (
    <dl>
      <dt>chained</dt>
      <dd>
        #{first} to #{head}: {countText(all, 'envelope')}
        {first > 1 && `; what is older than #${first} was pruned, and its hash is taken as it is`}
      </dd>
      <dt>read</dt>
      <dd>
        {countText(read, 'envelope')}
        {read < all &&
          `; ${all - read} you may not read: they are in the chain, and what they say is not known`}
      </dd>
      <dt>compared</dt>
      <dd>{countText(compared, 'envelope')} with what this page was shown</dd>
      <dt>head</dt>
      <dd>
        <code>
          {head}:{hash}
        </code>
        <CopyButton text={`${head}:${hash}`} what="the head" />
      </dd>
    </dl>
  )
}

/** Delay before the file's object URL is revoked, so that the browser can save it. */
const savedMs = 60_000

const exports = {
  markdown: { label: 'Export Markdown', type: 'text/markdown', ending: 'md' },
  jsonl: { label: 'Export JSONL', type: 'application/x-ndjson', ending: 'jsonl' },
} as const

/** Downloads the gateway's export for this reader. */
function DownloadButton({ format }: { format: keyof typeof exports }): VNode {
  const { session, act } = useSpace()
  const [isBusy, setBusy] = useState(false)
  const { label, type, ending } = exports[format]
  const save = async (): Promise<void> => {
    const chunks: BlobPart[] = []
    for await (const chunk of await session.http.openExport({ format })) chunks.push(chunk as BlobPart)
    const href = URL.createObjectURL(new Blob(chunks, { type }))
    Object.assign(document.createElement('a'), { href, download: `${session.place.space}.${ending}` }).click()
    setTimeout(() => URL.revokeObjectURL(href), savedMs)
  }
  return (
    <button
      type="button"
      disabled={isBusy}
      onClick={() => {
        setBusy(true)
        act('It was not exported', () => save().finally(() => setBusy(false)))
      }}
    >
      {label}
    </button>
  )
}
