import type { ComponentChildren, VNode } from 'preact'

/** A table that scrolls by itself if it is too wide. */
export const TableBox = ({ children }: { children: ComponentChildren }): VNode => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it.
  <section class="table" tabIndex={0} aria-label="Table">
    <table>{children}</table>
  </section>
)
