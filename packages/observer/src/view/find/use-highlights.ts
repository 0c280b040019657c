import { useEffect } from 'preact/hooks'

/** Maximum number of highlighted words, and of highlights. */
const [maxWords, maxPlaces] = [16, 500]
const name = 'search'

/** Highlights words in the view, with the CSS Custom Highlight API; does nothing in browsers without it. */
export function useHighlights(text: string): void {
  useEffect(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, maxWords)
    const view = document.querySelector('.view')
    if (words.length === 0 || view === null || !('highlights' in CSS)) return
    let frame = 0
    const highlight = (): void => {
      frame = 0
      CSS.highlights.set(name, new Highlight(...findPlaces(view, words)))
    }
    const later = (): void => {
      frame ||= requestAnimationFrame(highlight)
    }
    const observer = new MutationObserver(later)
    observer.observe(view, { childList: true, subtree: true, characterData: true })
    later()
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      CSS.highlights.delete(name)
    }
  }, [text])
}

function findPlaces(view: Element, words: readonly string[]): StaticRange[] {
  const places: StaticRange[] = []
  const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase()
    if (text.length !== node.nodeValue?.length) continue
    for (const word of words) {
      for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
        if (places.length === maxPlaces) return places
        const [startContainer, endContainer] = [node, node]
        places.push(
          new StaticRange({ startContainer, startOffset: at, endContainer, endOffset: at + word.length }),
        )
      }
    }
  }
  return places
}
