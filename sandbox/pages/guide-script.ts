import MiniSearch from 'minisearch'
import type { GuideSection } from './guides.ts'

/** Runs in the guides: a search, and a button that copies each example. It loads nothing from another host. */

const GUIDES = new URL('guides/', import.meta.url)
const RESULTS_MAX = 12

const load = async () => {
  const sections: GuideSection[] = await (await fetch(new URL('search.json', GUIDES))).json()
  const search = new MiniSearch<GuideSection>({
    idField: 'address',
    fields: ['heading', 'page', 'text'],
    storeFields: ['address', 'heading', 'page'],
    searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.1, combineWith: 'AND' },
  })
  search.addAll(sections)
  return search
}

const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  members: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Node[]
): HTMLElementTagNameMap[K] => {
  const made = Object.assign(document.createElement(name), members)
  made.append(...children)
  return made
}

const addSearch = (bar: Element): void => {
  const field = element('input', { type: 'search', placeholder: 'Search the guides' })
  field.ariaLabel = 'Search the guides'
  const list = element('ul', { hidden: true })
  bar.append(element('search', {}, field, list))
  let index: ReturnType<typeof load> | undefined
  field.addEventListener('focus', () => {
    index ??= load()
  })
  field.addEventListener('input', async () => {
    index ??= load()
    const found = (await index).search(field.value).slice(0, RESULTS_MAX)
    const links = found.map(({ address, heading, page }) => {
      const title = page === heading ? page : `${page}: ${heading}`
      return element('a', { href: new URL(address, GUIDES).href, textContent: title })
    })
    list.replaceChildren(...links.map((link) => element('li', {}, link)))
    if (field.value.trim() && links.length === 0) {
      list.append(element('li', { textContent: 'Nothing found' }))
    }
    list.hidden = field.value.trim() === ''
  })
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== field) {
      event.preventDefault()
      field.focus()
    }
    if (event.key === 'Escape') list.hidden = true
  })
  // A result on the same page leads to its heading without a load.
  list.addEventListener('click', () => {
    list.hidden = true
  })
}

const addCopying = (example: HTMLElement): void => {
  const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(example.textContent?.trimEnd() ?? '')
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  const frame = element('div', { className: 'example' })
  example.replaceWith(frame)
  frame.append(example, button)
}

/** Opens the list of guides on a wide screen, where pages.css hides its summary. */
const addList = (list: HTMLDetailsElement): void => {
  const wide = matchMedia('(min-width: 60rem)')
  const show = () => {
    list.open = wide.matches
  }
  wide.addEventListener('change', show)
  show()
}

const guides = document.querySelector<HTMLDetailsElement>('nav details')
if (guides) addList(guides)
const bar = document.querySelector('nav.site')
if (bar) addSearch(bar)
for (const example of document.querySelectorAll<HTMLElement>('main pre')) addCopying(example)
