import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { errors } from '../../shared/domain/refusal.ts'
import { useService } from '../support/running-service.ts'

/** The pages of docs/ in the sandbox. */

const service = useService()

const GUIDES = '/docs/guides'
const names = globSync('docs/*.md').map((file) => basename(file, '.md'))

const get = (path: string) =>
  fetch(service.sandbox().address + path, { headers: { Accept: 'text/html' } })

/** The HTML of each guide, by its path. */
const pages = new Map<string, string>()
beforeAll(async () => {
  for (const path of names.map((name) => `${GUIDES}/${name}`)) {
    pages.set(path, await (await get(path)).text())
  }
})

const groups = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, group = '']) => group)

test('the sandbox serves every page of the docs, with links to all of them', () => {
  const paths = [...pages.keys()].sort()
  for (const html of pages.values()) {
    const [, navigation = ''] = /<nav aria-label="Guides">(.*?)<\/nav>/s.exec(html) ?? []
    expect(groups(navigation, /href="(\/[^"#]*)"/g).sort()).toEqual(paths)
    expect(groups(html, /<h1[^>]*>([^<]+)</g)).toHaveLength(1)
  }
})

test('every link and picture of a guide leads to a page, an anchor or a file', async () => {
  const broken: string[] = []
  for (const [path, html] of pages) {
    for (const link of groups(html, /(?:href|src)="((?:\/|#)[^"]*)"/g)) {
      const [target, anchor] = link.startsWith('#') ? [path, link.slice(1)] : link.split('#')
      const page = pages.get(target ?? '')
      const isFound = page
        ? !anchor || page.includes(`id="${anchor}"`)
        : (await get(target ?? '')).status === 200
      if (!isFound) broken.push(`${path}: ${link}`)
    }
    // Links that were not rewritten.
    broken.push(...groups(html, /(?:href|src)="((?!\/|#|https?:)[^"]*)"/g))
  }
  expect(broken).toEqual([])
})

test('the error guide has an anchor for each code, and each code has advice', () => {
  const guide = pages.get(`${GUIDES}/errors`) ?? ''
  const anchored = groups(guide, /<a id="c(\d{4})"><\/a>\1</g)
  expect(anchored).toEqual(Object.keys(errors))
})

test('the `doc_url` of an error leads to its row in the error guide', async () => {
  const { body } = await service.get('/api/v1/payment-providers/banks/XXX')
  const { doc_url } = body.error
  expect(doc_url).toBe(`${service.sandbox().address}${GUIDES}/errors#c1404`)
  const page = await fetch(doc_url)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await page.text()).toContain('id="c1404"')
})

test('the commands of a guide name the address of the sandbox', () => {
  const guide = pages.get(`${GUIDES}/integration`) ?? ''
  expect(guide).toContain(`curl -s ${service.sandbox().address}/api/v1/`)
  expect(guide).not.toContain('127.0.0.1:3000')
})

const noGuides = ['nothing', '..%2fREADME', 'errors.md', 'images/none.png', 'README']
test.each(noGuides)('no guide has the name %s', async (name) => {
  expect((await get(`${GUIDES}/${name}`)).status).toBe(404)
})
