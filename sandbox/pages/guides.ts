import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Marked, type Token } from 'marked'
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id'
import { pageHtml, siteLinks } from './layout.ts'

/** Renders docs/ for the browser. The gateway imports it at the first request of a guide. */

const GUIDES = '/docs/guides'

/** In the package the folder is next to the bundle of this file. */
const packed = new URL('docs/', import.meta.url)
const DOCS = existsSync(packed) ? packed : new URL('../../docs/', import.meta.url)

const chapters: Record<string, readonly string[]> = {
  'For providers': ['integration', 'errors', 'webhooks', 'settlement', 'testing', 'going-live'],
  'For banks': ['bank-protocol'],
  'For operators': ['operators', 'console'],
}

const FIRST = 'integration'

const names = readdirSync(DOCS)
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length))

const sourceOf = (name: string): string => readFileSync(new URL(`${name}.md`, DOCS), 'utf8')

/** Returns the address in the sandbox of a link between pages, such as `webhooks.md#headers`. */
const addressOf = (link: string): string =>
  /^(?:[a-z]+:|#)/.test(link) ? link : `${GUIDES}/${link.replace(/\.md(?=#|$)/, '')}`

const setAddress = (token: Token): void => {
  if (token.type === 'link' || token.type === 'image') token.href = addressOf(token.href)
}

const markdown = new Marked(gfmHeadingId(), {
  walkTokens: setAddress,
  // A disabled checkbox would need a label.
  renderer: { checkbox: () => '☐ ' },
})

/** The page offers the source of a drawing, because Mermaid's script has several megabytes. */
const DRAWING = /<pre>(<code class="language-mermaid">.*?<\/code>)<\/pre>/gs

/** Code and tables scroll separately, so the keyboard must reach them. */
const withScrolling = (html: string): string =>
  html
    .replaceAll(DRAWING, '<details><summary>Drawing, as Mermaid</summary><pre>$1</pre></details>')
    .replaceAll('<pre>', '<pre tabindex="0">')
    // An empty cell must not be a heading.
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')

const titleOf = (name: string): string => /^# (.*)$/m.exec(sourceOf(name))?.[1] ?? name

const navigation = (current: string, sections: string): string => {
  const listed = Object.values(chapters).flat()
  const more = names.filter((name) => !listed.includes(name))
  return Object.entries({ ...chapters, More: more })
    .map(([chapter, pages]) => {
      const items = pages.map((name) => {
        const mark = name === current ? ' aria-current="page"' : ''
        const link = `<a href="${GUIDES}/${name}"${mark}>${titleOf(name)}</a>`
        return `<li>${link}${name === current ? sections : ''}</li>`
      })
      return `<p>${chapter}</p><ul>${items.join('')}</ul>`
    })
    .join('')
}

/** Returns the page of a file of docs/, by default the first guide; undefined for another name. */
export const guideHtml = (name = FIRST): string | undefined => {
  if (!names.includes(name)) return undefined
  const article = withScrolling(markdown.parse(sourceOf(name), { async: false }))
  const sections = getHeadingList()
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`)
  return pageHtml({
    title: `${titleOf(name)}: debit collection service`,
    kind: 'guide',
    body: `${siteLinks(GUIDES)}
    <div class="columns">
      <nav aria-label="Guides">${navigation(name, `<ul>${sections.join('')}</ul>`)}</nav>
      <main>${article}</main>
    </div>`,
  })
}

/** Returns a file of docs/ to which its pages link; undefined if it does not exist. */
export const guideFile = (path: string): Buffer | undefined => {
  const url = new URL(path, DOCS)
  return existsSync(url) ? readFileSync(url) : undefined
}
