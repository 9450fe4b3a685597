import { expect, test, vi } from 'vitest'
import { queueUrlFrom } from '../../shared/runtime.ts'

const LOCAL = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }
const SQS = { AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:4567' }

test.each([
  ['arn:aws:sqs:eu-west-1:1:q', {}, 'https://sqs.eu-west-1.amazonaws.com/1/q'],
  ['arn:aws-cn:sqs:cn-north-1:1:q', {}, 'https://sqs.cn-north-1.amazonaws.com.cn/1/q'],
  ['arn:aws:sqs:eu-west-1:1:q', LOCAL, 'http://127.0.0.1:4566/1/q'],
  ['arn:aws:sqs:eu-west-1:1:q', { ...LOCAL, ...SQS }, 'http://127.0.0.1:4567/1/q'],
])('the queue %s with the endpoints %o has the URL %s', (arn, endpoints, url) => {
  for (const name of ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS']) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(endpoints)) vi.stubEnv(name, value)
  expect(queueUrlFrom(arn)).toBe(url)
})
