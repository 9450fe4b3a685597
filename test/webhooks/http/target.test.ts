import { describe, expect, test } from 'vitest'
import type { Network } from '../../../shared/webhooks/http/network.ts'
import { strict, targetOf } from '../../../shared/webhooks/http/target.ts'
import { refused } from '../../support/refused.ts'
import { answering, networkOf } from './post-request.ts'

const URL_OF_PROVIDER = 'https://provider.example/hooks'

const judged = (text: string, changes: Partial<Network> = {}, milliseconds = 5_000) =>
  targetOf(text, {
    network: networkOf(changes),
    rules: strict,
    signal: AbortSignal.timeout(milliseconds),
  })

const hindered = async (target: ReturnType<typeof judged>) => {
  const found = await target
  if (!('cause' in found)) throw new Error(`Not hindered: ${found.url}`)
  const { url } = refused(found.refusal).details as { url: string[] }
  return [found.cause, ...url]
}

describe('a name leads to all of its addresses, and is resolved once', () => {
  test.each([
    [['8.8.8.8']],
    [['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111']],
    [['2606:4700:4700::1111']],
  ])('%j', async (addresses) => {
    const { asked, resolve } = answering(addresses, ['127.0.0.1'])
    const target = await judged(URL_OF_PROVIDER, { resolve })
    expect(target).toEqual({ url: new URL(URL_OF_PROVIDER), addresses })
    expect(asked).toEqual(['provider.example'])
  })
})

describe('one address that is not public is enough to refuse a name', () => {
  test.each([
    ['127.0.0.1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['192.168.1.1'],
    ['0.0.0.0'],
    ['::1'],
    ['fd00:ec2::254'],
    ['fe80::1%eth0'],
    ['::ffff:8.8.8.8'],
    ['64:ff9b::8.8.8.8'],
    ['8.8.8.8', '10.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '1.1.1.1', '::1'],
    ['2606:4700:4700::1111', '127.0.0.1'],
    ['alias.provider.example'],
    [''],
  ])('%s %s %s', async (...addresses) => {
    for (const local of [false, true]) {
      const target = judged(URL_OF_PROVIDER, { local, resolve: async () => addresses })
      expect(await hindered(target)).toEqual(['address', 'must resolve to public addresses only'])
    }
  })
})

describe('a name that leads nowhere', () => {
  test('has no addresses', async () => {
    const target = judged(URL_OF_PROVIDER, { resolve: async () => [] })
    expect(await hindered(target)).toEqual(['dns', 'does not resolve'])
  })

  test('is not known', async () => {
    const target = judged(URL_OF_PROVIDER, {
      resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    })
    expect(await hindered(target)).toEqual(['dns', 'does not resolve'])
  })

  test('cannot even be asked for', async () => {
    const target = judged(URL_OF_PROVIDER, {
      resolve: () => {
        throw new Error('no')
      },
    })
    expect(await hindered(target)).toEqual(['dns', 'does not resolve'])
  })

  test('is waited for no longer than a connection is', async () => {
    const never = Promise.withResolvers<string[]>()
    const target = judged(URL_OF_PROVIDER, { resolve: () => never.promise }, 50)
    expect(await hindered(target)).toEqual(['connect_timeout', 'does not resolve'])
  })
})

describe('an address in the URL is never looked up', () => {
  const { asked, resolve } = answering()

  test.each([
    ['https://8.8.8.8/hooks', '8.8.8.8'],
    ['https://134744072/hooks', '8.8.8.8'],
    ['https://[2606:4700:4700:0::1111]/hooks', '2606:4700:4700::1111'],
  ])('%s', async (text, address) => {
    expect(await judged(text, { resolve })).toMatchObject({ addresses: [address] })
    expect(asked).toEqual([])
  })

  test.each(['https://127.0.0.1/hooks', 'https://2130706433/hooks', 'https://[::1]/hooks'])(
    '%s, which is private',
    async (text) => {
      expect(await hindered(judged(text, { resolve }))).toEqual([
        'address',
        'must not name a private address',
      ])
      expect(asked).toEqual([])
    },
  )
})

test('a URL that is refused is never looked up', async () => {
  const { asked, resolve } = answering()
  const target = judged('http://provider.example/hooks', { resolve })
  expect(await hindered(target)).toEqual(['address', 'must use https'])
  expect(asked).toEqual([])
})
