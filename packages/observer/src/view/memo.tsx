import { Component, type ComponentChild, type ComponentType, createElement } from 'preact'

/** The same component, drawn again only when one of its properties is another one. */
export function memo<Props extends object>(Inner: ComponentType<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const now = this.props as Props
      return Object.keys({ ...now, ...next }).some(
        (name) => now[name as keyof Props] !== next[name as keyof Props],
      )
    }
    override render(): ComponentChild {
      return createElement(Inner, this.props as Props)
    }
  }
}
