import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { useServer } from '../support/servers.ts'
import { legibilityFindings, useBrowser } from './browser.ts'

/** The checks of test/support/browser.ts detect faults. */

const html = (body: string) => `<!doctype html><html lang="en"><head><title>Page</title>
  <link rel="icon" href="data:,"></head><body><main><h1>Page</h1>${body}</main></body></html>`

const pages: Record<string, string> = {
  '/sound': html('<p>Text</p>'),
  '/inline': html('<script>document.title = "changed"</script>'),
  '/foreign': html('<img alt="" src="http://foreign.example/pixel.png">'),
  '/throws': html('<script src="/throws.js"></script>'),
  '/wide': html('<div style="width: 1000px">wide</div>'),
  '/unlabelled': html('<input>'),
  '/unlabelled-wide': html(
    '<style>@media (max-width: 1500px) { input { display: none } }</style><input>',
  ),
  '/scrolls': html(
    `<style>div { height: 300px; overflow: auto } p { height: 100px }
      @media (width > 600px) and (width < 1000px) { p { height: 900px } }</style><div><p>Tall</p><p>Tall</p></div>`,
  ),
  '/pale-between': html(
    '<style>@media (width > 600px) and (width < 1000px) { p { color: #eee } }</style><p>Pale</p>',
  ),
  '/pale': html(
    '<style>@media (prefers-color-scheme: dark) { p { color: #eee } }</style><p>Pale</p>',
  ),
}

const address = useServer(
  createServer(({ url = '' }, response) => {
    const isScript = url.endsWith('.js')
    response
      .writeHead(200, {
        'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src * data:",
      })
      .end(isScript ? 'throw new Error("thrown by the page")' : (pages[url] ?? ''))
  }),
)
const { open, allowProblem, expectProblem } = useBrowser()

test('a sound page has no problem and no finding', async () => {
  expect(await legibilityFindings(await open(`${address()}/sound`))).toEqual([])
})

test.each([
  ['an inline script', '/inline', /^prints .*Content Security Policy/],
  ['a request to another host', '/foreign', /^requests http:\/\/foreign\.example/],
  ['an exception', '/throws', /^throws thrown by the page/],
])('the fixture reports %s as a problem', async (_, path, problem) => {
  await open(address() + path)
  expectProblem(problem)
  // A host without an address is also an error of the page.
  allowProblem(/ERR_NAME_NOT_RESOLVED/)
})

test.each([
  ['content wider than 768 px', '/wide', /^light 768 px: overflow: <div/],
  ['an input without label', '/unlabelled', /^light 320 px: label at input/],
  ['an input without label on wide pages alone', '/unlabelled-wide', /^light 1600 px: label at/],
  ['a region that scrolls between 600 and 1000 px', '/scrolls', /^light 768 px: scrollable-region/],
  ['low contrast from 768 to 1000 px alone', '/pale-between', /^light 768 px: color-contrast at p/],
  ['low contrast in dark mode', '/pale', /^dark 320 px: color-contrast at p/],
])('the fixture reports %s as a finding', async (_, path, finding) => {
  const findings = await legibilityFindings(await open(address() + path))
  expect(findings).toContainEqual(expect.stringMatching(finding))
})

test('an exception applies to its rule and target alone', async () => {
  const page = await open(`${address()}/unlabelled`)
  const except = (within: string) =>
    legibilityFindings(page, [{ rule: 'label', within, reason: 'planted' }])
  expect(await except('input')).toEqual([])
  expect(await except('select')).toHaveLength(1)
})
