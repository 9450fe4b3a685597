import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Marked, type Token } from 'marked'
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id'
import { drawingSvg, type Scheme, schemes } from './drawings.ts'
import { EXAMPLES, pageHtml, type Site, siteLinks } from './layout.ts'

/** Renders docs/ for the browser. The gateway imports it at the first request of a guide. */

export const GUIDES = '/docs/guides'

/** In the package the folder is next to the bundle of this file. */
const packed = new URL('docs/', import.meta.url)
const DOCS = existsSync(packed) ? packed : new URL('../../docs/', import.meta.url)

const chapters: Record<string, readonly string[]> = {
  'For providers': ['integration', 'errors', 'webhooks', 'settlement', 'testing', 'going-live'],
  'For banks': ['bank-protocol'],
  'For operators': ['operators', 'console', 'audit', 'compliance'],
  'For engineers': ['deployment', 'operations', 'restore', 'capacity'],
}

const FIRST = 'integration'

export const guideNames = readdirSync(DOCS)
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

const DRAWING = /<pre>(<code class="language-mermaid">.*?<\/code>)<\/pre>/gs

const drawingPath = (name: string, n: number, scheme: Scheme): string =>
  `drawings/${name}-${n}-${scheme}.svg`

/** Shows a drawing with its source, which readers of a screen can follow. */
const drawingHtml = (name: string, n: number, source: string): string => {
  const address = (scheme: Scheme) => `${GUIDES}/${drawingPath(name, n, scheme)}`
  return `<figure>
    <div class="wide" tabindex="0"><picture>
      <source media="(prefers-color-scheme: dark)" srcset="${address('dark')}">
      <img src="${address('light')}" alt="Drawing: its text follows">
    </picture></div>
    <details><summary>As text</summary><pre>${source}</pre></details>
  </figure>`
}

const withDrawings = (name: string, html: string): string => {
  let n = 0
  return html.replaceAll(DRAWING, (_, source: string) => drawingHtml(name, ++n, source))
}

/** Code and tables scroll separately, so the keyboard must reach them. */
const withScrolling = (html: string): string =>
  html
    .replaceAll('<pre>', '<pre tabindex="0">')
    // An empty cell must not be a heading.
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')

const titleOf = (name: string): string => /^# (.*)$/m.exec(sourceOf(name))?.[1] ?? name

const navigation = (current: string, sections: string): string => {
  const listed = Object.values(chapters).flat()
  const more = guideNames.filter((name) => !listed.includes(name))
  const lists = Object.entries({ ...chapters, More: more })
    .map(([chapter, pages]) => {
      const items = pages.map((name) => {
        const mark = name === current ? ' aria-current="page"' : ''
        const link = `<a href="${GUIDES}/${name}"${mark}>${titleOf(name)}</a>`
        return `<li>${link}${name === current ? sections : ''}</li>`
      })
      return `<p>${chapter}</p><ul>${items.join('')}</ul>`
    })
    .join('')
  // Closed on a narrow screen, where the list would fill it.
  return `<details><summary>All guides</summary>${lists}</details>`
}

const articleOf = (name: string): string => markdown.parse(sourceOf(name), { async: false })

/** Returns the page of a file of docs/, by default the first guide; undefined for another name. */
export const guideHtml = (name = FIRST, site: Site = 'sandbox'): string | undefined => {
  if (!guideNames.includes(name)) return undefined
  const article = withScrolling(withDrawings(name, articleOf(name)))
  const sections = getHeadingList()
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`)
  return pageHtml({
    title: `${titleOf(name)}: debit collection service`,
    kind: 'guide',
    head: EXAMPLES,
    body: `${siteLinks(GUIDES, site)}
    <div class="columns">
      <nav aria-label="Guides">${navigation(name, `<ul>${sections.join('')}</ul>`)}</nav>
      <main>${article}</main>
    </div>`,
  })
}

/** A section of a guide, as the search finds it. The address is relative to the guides. */
export type GuideSection = { address: string; page: string; heading: string; text: string }

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:quot|#39|amp|lt|gt);/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Returns all sections of the guides. */
export const guideSections = (): GuideSection[] =>
  guideNames.flatMap((name) =>
    articleOf(name)
      .split(/(?=<h[1-3] id=)/)
      .flatMap((part) => {
        const [, id, heading = ''] = /^<h[1-3] id="([^"]+)">(.*?)<\/h/s.exec(part) ?? []
        const found = { address: `${name}#${id}`, page: titleOf(name), heading: textOf(heading) }
        return id ? [{ ...found, text: textOf(part) }] : []
      }),
  )

/** Returns the drawings of the guides by the path that their pages name. */
export const guideDrawings = async (): Promise<Map<string, string>> => {
  const drawings = new Map<string, string>()
  for (const name of guideNames) {
    const sources = [...sourceOf(name).matchAll(/^```mermaid\n(.*?)^```/gms)]
    for (const [n, [, source = '']] of sources.entries()) {
      for (const scheme of schemes) {
        drawings.set(drawingPath(name, n + 1, scheme), await drawingSvg(source, scheme))
      }
    }
  }
  return drawings
}

let drawn: ReturnType<typeof guideDrawings> | undefined

/** Returns a file of docs/ or a drawing to which its pages link; undefined if it does not exist. */
export const guideFile = async (path: string): Promise<Buffer | string | undefined> => {
  const url = new URL(path, DOCS)
  if (existsSync(url)) return readFileSync(url)
  if (!path.startsWith('drawings/')) return undefined
  drawn ??= guideDrawings()
  return (await drawn).get(path)
}
