/** The parts that all pages for a browser share. */

type PageParts = {
  title: string
  body: string
  kind: 'start' | 'guide' | 'reference'
  head?: string
}

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

/** Returns the bar with the links between start page, guides, reference and console. */
export const siteLinks = (current: keyof typeof links): string =>
  `<nav class="site" aria-label="Pages">${Object.entries(links)
    .map(([path, text]) =>
      path === current
        ? `<a href="${path}" aria-current="page">${text}</a>`
        : `<a href="${path}">${text}</a>`,
    )
    .join('')}</nav>`
