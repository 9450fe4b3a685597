import { useEffect, useRef } from 'preact/hooks'
import { mayUse, operate } from '../client.ts'
import { searchLink } from '../search.ts'
import { onSubmit } from './field.tsx'
import { showFailure } from './toasts.tsx'

const isTyping = ({ target }: Event): boolean =>
  target instanceof Element && target.matches('input, select, textarea, dialog *')

const linkOf = async (text: string): Promise<string> => {
  const [providers, banks] = await Promise.all([
    mayUse('provider') ? operate('provider', 'list', {}) : [],
    mayUse('bank') ? operate('bank', 'list', {}) : [],
  ])
  return searchLink(text, { providers, banks })
}

/** Finds an object by any of its names. `/` and Ctrl-K lead here. */
export const Search = () => {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isShortcut = (event.ctrlKey || event.metaKey) && event.key === 'k'
      if (!isShortcut && (event.key !== '/' || isTyping(event))) return
      event.preventDefault()
      input.current?.select()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  const search = onSubmit(({ text }) => {
    if (text) linkOf(text).then((link) => location.assign(link), showFailure)
  })
  return (
    <search>
      <form onSubmit={search}>
        <input
          ref={input}
          name="text"
          type="search"
          aria-label="Search"
          aria-keyshortcuts="/ Control+K"
          placeholder="Search /"
          title="Reference, uuid, provider’s or bank’s reference, phone, amount, batch, provider or bank"
        />
      </form>
    </search>
  )
}
