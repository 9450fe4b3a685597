import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { drawingSvg, schemes } from '../../sandbox/pages/drawings.ts'

/** Returns the light and the dark value of each colour of a style sheet. */
const coloursIn = (path: string): Record<string, [light: string, dark: string]> =>
  Object.fromEntries(
    [...readFileSync(path, 'utf8').matchAll(/--(\w+): light-dark\((#\w+), (#\w+)\)/g)].map(
      ([, name = '', light = '', dark = '']) => [name, [light, dark]],
    ),
  )

const pages = coloursIn('sandbox/pages/pages.css')
const { surface, ...console } = coloursIn('console/page/styles/base.css')

test('the start page, the guides and the reference have the colours of the console', () => {
  expect(Object.keys(pages).sort()).toEqual(['accent', 'line', 'muted', 'page', 'raised', 'text'])
  expect({ ...console, page: surface }).toMatchObject(pages)
})

test.each(schemes)('a drawing has the %s colours of its page', async (scheme) => {
  const svg = await drawingSvg('graph LR\n  A --> B', scheme)
  const colour = (name: string) => pages[name]?.[schemes.indexOf(scheme)]
  for (const name of ['page', 'text', 'accent']) expect(svg).toContain(colour(name))
})
