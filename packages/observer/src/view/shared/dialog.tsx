import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly label: string
  readonly kind?: string
  readonly close: () => void
  readonly children: ComponentChildren
}

/** A modal dialog. `close` is called once the browser has closed it and restored the focus. */
export function Dialog({ label, kind = '', close, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog class={`help ${kind}`} ref={dialog} onClose={close} aria-label={label}>
      {children}
    </dialog>
  )
}

export const CloseDialog = (): VNode => (
  <button type="button" onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}>
    Close
  </button>
)
