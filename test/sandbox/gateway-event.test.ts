import type { APIGatewayProxyEvent } from 'aws-lambda'
import { afterAll, expect, test } from 'vitest'
import { functionRows } from '../../infra/definitions/functions.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { openGateway } from '../../sandbox/gateway.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { pathOf } from '../support/requests.ts'

/** The events of the sandbox's gateway, compared with those of a REST API on AWS. */

type Event = APIGatewayProxyEvent & { function: string }

/** Every function replies with its event and its name. */
const functions = await loadFunctions(functionRows, async (row) => ({
  handler: async (event) => {
    const body = JSON.stringify({ ...(event as object), function: row.name })
    return { statusCode: 200, headers: {}, body }
  },
}))

const gateway = await openGateway(0)
gateway.serve({ functions, onReply: () => undefined })
afterAll(() => gateway.stop())

/** Returns the event of a request line such as `GET /x?a=1`, with these header lines. */
const eventOf = async (requestLine: string, lines: string[] = [], body = ''): Promise<Event> => {
  const length = body ? [`Content-Length: ${body.length}`] : []
  const head = [`${requestLine} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines]
  const text = [...head, ...length, '', body].join('\r\n')
  return JSON.parse((await sendRaw(gateway.address, text)).body)
}

const BANKS = '/api/v1/payment-providers/banks'
const LOOKUP = `${BANKS}/lookup/{phone_number}`
const EMAILS = 'user/test%2Balias@gmail.com/plus/test+alias@gmail.com'
const proxied = (proxy: string) => ({ resource: '/{proxy+}', pathParameters: { proxy } })

// As recorded on AWS, where /{proxy+}, /hardcoded and /{name} had a proxy integration.
test.each([
  ['/proxy-value', '/proxy-value', proxied('proxy-value')],
  ['/proxy-value/', '/proxy-value/', proxied('proxy-value')],
  ['/proxy-value//double-slash', undefined, proxied('proxy-value//double-slash')],
  ['//proxy-value', '/proxy-value', proxied('proxy-value')],
  [`/proxy-value/api/${EMAILS}`, undefined, proxied(`proxy-value/api/${EMAILS}`)],
  [`/${BANKS}`, BANKS, { resource: BANKS, pathParameters: null }],
  [`${BANKS}/`, `${BANKS}/`, { resource: BANKS, pathParameters: null }],
  [`${BANKS}/GCB`, undefined, { resource: `${BANKS}/{identifier}` }],
])('the path of GET %s is undecoded', async (sent, path = sent, expected) => {
  const event = await eventOf(`GET ${sent}`)
  expect(event).toMatchObject({ ...expected, path, requestContext: { path: sent } })
  expect(event.requestContext.resourcePath).toBe(event.resource)
})

test('the path of the root has no parameters', async () => {
  const root = { resource: '/', path: '/', pathParameters: null, function: 'answer-unmatched' }
  expect(await eventOf('GET /')).toMatchObject(root)
  expect(await eventOf('GET //')).toMatchObject(root)
})

const phones = ['%2B233241234567', '%2b233241234567', '+233241234567', '%', '%zz', '%ff', '..%2f']
test.each(phones)('the path has the parameter %s as sent', async (phone_number) => {
  const event = await eventOf(`GET ${BANKS}/lookup/${phone_number}`)
  expect(event).toMatchObject({ resource: LOOKUP, pathParameters: { phone_number } })
})

test.each(operationNames)('the path of %s may end with a slash', async (name) => {
  const [{ method, path: resource }, path] = [operations[name], `${pathOf(name)}/`]
  const routed = { function: name, resource, path }
  expect(await eventOf(`${method} ${path}`)).toMatchObject(routed)
  expect(await eventOf(`${method} /${path}`)).toMatchObject(routed)
  const other = { function: 'answer-unmatched', resource }
  expect(await eventOf(`DELETE ${path}`)).toMatchObject(other)
})

// The first eight as recorded on AWS.
test.each([
  ['', null],
  ['?urlparam=test', { urlparam: ['test'] }],
  ['?at=2023-06-12T18:05:10+00:00', { at: ['2023-06-12T18:05:10 00:00'] }],
  ['?email=test%2Balias@gmail.com', { email: ['test+alias@gmail.com'] }],
  ['?plus=test+alias@gmail.com', { plus: ['test alias@gmail.com'] }],
  ['?url=https://www.google.com/', { url: ['https://www.google.com/'] }],
  ['?space=foo%20bar', { space: ['foo bar'] }],
  ['?a=1&a=2&b=3', { a: ['1', '2'], b: ['3'] }],
  ['?', null],
  ['?empty=&none', { empty: [''], none: [''] }],
  ['?twice=%2525&k%65y=1&Key=2', { twice: ['%25'], key: ['1'], Key: ['2'] }],
])('the query %s is decoded once, with the last as the single value', async (query, expected) => {
  const event = await eventOf(`GET /x${query}`)
  expect(event.multiValueQueryStringParameters).toEqual(expected)
  const last = Object.entries(expected ?? {}).map(([name, values]) => [name, values.at(-1)])
  expect(event.queryStringParameters).toEqual(expected && Object.fromEntries(last))
})

test('the headers have the case of the caller, and the last value as the single one', async () => {
  const { headers, multiValueHeaders } = await eventOf('GET /x', [
    ...['tEsT-HEADeR: aValUE', 'X-Two: 1', 'X-Two: 2', 'Accept: */*'],
  ])
  const trace = expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/)
  const expected = {
    ...{ Accept: '*/*', Host: 'localhost', 'tEsT-HEADeR': 'aValUE', 'X-Two': '2' },
    ...{ 'X-Amzn-Trace-Id': trace, 'X-Forwarded-For': '127.0.0.1' },
    ...{ 'X-Forwarded-Port': '443', 'X-Forwarded-Proto': 'https' },
  }
  expect(headers).toEqual(expected)
  const lists = Object.entries(expected).map(([name, value]) => [name, [value]])
  expect(multiValueHeaders).toEqual({ ...Object.fromEntries(lists), 'X-Two': ['1', '2'] })
})

test('the headers exclude those of the connection', async () => {
  const lines = ['TE: trailers', 'Max-Forwards: 1', 'Server: x', 'Content-MD5: x']
  const { headers } = await eventOf('POST /x', lines, '{}')
  expect(Object.keys(headers).filter((name) => !name.startsWith('X-'))).toEqual(['Host'])
})

test('the headers append the peer to the addresses of the caller, which name no source', async () => {
  const lines = ['x-forwarded-for: 192.0.2.1', 'X-FORWARDED-PROTO: http', 'X-Forwarded-Port: 1']
  const { headers, requestContext } = await eventOf('GET /x', lines)
  const names = Object.entries(headers).filter(([name]) => /^x-forw/i.test(name))
  expect(Object.fromEntries(names)).toEqual({
    ...{ 'X-Forwarded-For': '192.0.2.1, 127.0.0.1' },
    ...{ 'X-Forwarded-Port': '443', 'X-Forwarded-Proto': 'https' },
  })
  expect(requestContext.identity.sourceIp).toBe('127.0.0.1')
})

test('a body is base64, and null without bytes', async () => {
  const sent = { body: Buffer.from('{"a":1}').toString('base64'), isBase64Encoded: true }
  expect(await eventOf('POST /x', [], '{"a":1}')).toMatchObject(sent)
  expect(await eventOf('POST /x')).toMatchObject({ body: null, isBase64Encoded: false })
  const response = await fetch(`${gateway.address}/x`, {
    method: 'POST',
    body: Uint8Array.of(0x7b, 0xff, 0x00),
  })
  expect(await response.json()).toMatchObject({ body: 'e/8A', isBase64Encoded: true })
})

test('the context of an event has the members of AWS', async () => {
  const event = await eventOf('GET /x', ['User-Agent: test', 'X-Amzn-RequestId: of-the-caller'])
  const none = ['accessKey', 'accountId', 'caller', 'cognitoAuthenticationProvider', 'user']
  const more = ['cognitoAuthenticationType', 'cognitoIdentityId', 'cognitoIdentityPoolId']
  const nulls = [...none, ...more, 'principalOrgId', 'userArn'].map((name) => [name, null])
  expect(event.requestContext).toEqual({
    ...{ accountId: '000000000000', apiId: 'sandbox', deploymentId: 'sandbox' },
    ...{ domainName: 'localhost', domainPrefix: 'localhost', httpMethod: 'GET' },
    ...{ path: '/x', protocol: 'HTTP/1.1', resourceId: 'sandbox', resourcePath: '/{proxy+}' },
    stage: 'sandbox',
    extendedRequestId: expect.stringMatching(/^[\w-]{15}=$/),
    requestId: 'of-the-caller',
    requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
    requestTimeEpoch: expect.any(Number),
    identity: { ...Object.fromEntries(nulls), sourceIp: '127.0.0.1', userAgent: 'test' },
  })
  const { requestTime = '', requestTimeEpoch } = event.requestContext
  const time = requestTime.replaceAll('/', ' ').replace(':', ' ')
  expect(Date.parse(time)).toBe(Math.floor(requestTimeEpoch / 1000) * 1000)
  expect(event.stageVariables).toBeNull()
})
