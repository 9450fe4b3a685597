import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { useServer } from '../support/servers.ts'
import { legibilityFindings, useBrowser } from './browser.ts'

/** The site of `npm run docs`, served as files below a path. */

const { open } = useBrowser()
const BELOW = '/below'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

const address = useServer(
  createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://site')
    const path = `dist/docs${pathname.slice(BELOW.length)}`
    const index = `${path}/index.html`
    if (existsSync(index) && !pathname.endsWith('/')) {
      response.writeHead(301, { location: `${pathname}/` }).end()
      return
    }
    const file = existsSync(index) ? index : path
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? '' }).end(readFileSync(file))
  }),
)
beforeAll(() => void execFileSync('node', ['--no-warnings', 'commands/write-docs.ts']))

const openSite = (path: string) => open(`${address()}${BELOW}${path}`)

test('the start of the site leads to the guides and the reference, and not to a console', async () => {
  expect(readFileSync('dist/docs/index.html', 'utf8')).toContain('rel="icon"')
  const page = await openSite('/')
  await page.getByRole('heading', { name: 'Integrate in ten minutes' }).waitFor()
  const bar = page.getByRole('navigation', { name: 'Pages' })
  expect(await bar.getByRole('link').allTextContents()).toEqual(['Guides', 'Reference'])
  await bar.getByRole('link', { name: 'Reference' }).click()
  await page.getByRole('heading', { name: 'Debit collection service' }).waitFor()
  expect(await page.getByRole('button', { name: /Test Request/ }).count()).toBe(0)
})

test('the search finds a section by words of its heading and text, and leads to it', async () => {
  const page = await openSite('/docs/guides/webhooks/')
  await page.keyboard.press('/')
  await page.keyboard.type('rotate sealing')
  const found = page.getByRole('search').getByRole('link')
  await found.filter({ hasText: 'Operations: Rotate the sealing key' }).click()
  await page.waitForURL(/\/below\/docs\/guides\/operations\/?#rotate-the-sealing-key$/)
  await page.getByRole('searchbox').fill('zzzzzz')
  await page.getByText('Nothing found').waitFor()
})

test('an example is copied without its button', async () => {
  const page = await openSite('/docs/guides/integration/')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const example = page.locator('.example').first()
  await example.getByRole('button', { name: 'Copy' }).click()
  await example.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  expect(copied).toBe((await example.locator('pre').textContent())?.trimEnd())
})

test('a narrow screen shows a guide first and the list of guides on request, and no button covers code', async () => {
  const page = await openSite('/docs/guides/operations/')
  const example = page.locator('.example').first()
  const link = page.getByRole('link', { name: 'Going live' })
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    expect((await page.getByRole('heading', { level: 1 }).boundingBox())?.y).toBeLessThan(250)
    const code = await example.locator('pre').boundingBox()
    const button = await example.getByRole('button').boundingBox()
    if (!code || !button) throw new Error('no example')
    const isBeside = button.x >= code.x + code.width
    expect(isBeside || button.y + button.height <= code.y).toBe(true)
  }
  await page.setViewportSize({ width: 390, height: 900 })
  await page.reload()
  expect(await link.isVisible()).toBe(false)
  await page.getByText('All guides').click()
  await link.waitFor()
})

test('the drawings are pictures with a text, and the page with open results is legible', async () => {
  const page = await openSite('/docs/guides/architecture/')
  const widths: number[] = await page.evaluate(
    "[...document.querySelectorAll('figure img')].map((one) => one.naturalWidth)",
  )
  expect(widths).toHaveLength(4)
  expect(widths.filter((width) => width < 100)).toEqual([])
  await page.getByRole('searchbox').fill('queue')
  await page.getByRole('search').getByRole('link').first().waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})
