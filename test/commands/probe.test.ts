import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { expect, test, vi } from 'vitest'
import { probe } from '../../commands/probe/handlers.ts'
import { captureOutput } from '../support/output.ts'

const output = captureOutput()

test('a probe reads its secret from Secrets Manager, and fails without printing a value that is not set', async () => {
  vi.stubEnv('PROBE_SECRET_ARN', 'arn:probe')
  const secrets = mockClient(SecretsManagerClient)
  secrets.on(GetSecretValueCommand).resolves({ SecretString: 'generated-text' })
  await probe()
  expect(secrets.commandCalls(GetSecretValueCommand)[0]?.args[0].input).toEqual({
    SecretId: 'arn:probe',
  })
  expect(output.metrics()).toEqual([
    expect.objectContaining({ ProbeSucceeded: 0, ProbeMilliseconds: expect.any(Number) }),
  ])
  expect(output.text()).toContain('The secret is not set')
  expect(output.text()).not.toContain('generated-text')
})
