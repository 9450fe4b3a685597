/** The parts that all pages for a browser share. */

type PageParts = {
  title: string
  body: string
  kind: 'start' | 'guide' | 'reference'
  head?: string
}

/** Adds a button that copies it to each example. */
export const EXAMPLES = '<script type="module" src="/docs/guides.js"></script>'

/** Returns a page of the sandbox. */
export const pageHtml = ({ title, body, kind, head = '' }: PageParts): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/icon.svg">
    <link rel="stylesheet" href="/pages.css">
    ${head}
  </head>
  <body class="${kind}">
    ${body}
  </body>
</html>
`

const links = {
  '/': 'Start',
  '/docs/guides': 'Guides',
  '/docs': 'Reference',
  '/console': 'Console',
}

type SitePath = keyof typeof links

/** The pages that need no service: a web server can serve them as files (`npm run docs`). */
export const staticPaths: readonly SitePath[] = ['/docs/guides', '/docs']

/** Where a page is served: by the sandbox, or as a file. */
export type Site = 'sandbox' | 'static'

/** Returns the bar with the links between start page, guides, reference and console. */
export const siteLinks = (current: SitePath, site: Site = 'sandbox'): string => {
  const paths = site === 'static' ? staticPaths : (Object.keys(links) as SitePath[])
  const items = paths.map((path) => {
    const mark = path === current ? ' aria-current="page"' : ''
    return `<a href="${path}"${mark}>${links[path]}</a>`
  })
  return `<nav class="site" aria-label="Pages">${items.join('')}</nav>`
}
