import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { expect } from 'vitest'
import { captureOutput } from '../support/output.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { CREATED, useSubscribers } from '../support/subscriber.ts'
import { advance, useRunbooks } from './runbook.ts'

/** The runbook of dead letters, after webhooks could not be signed for ten minutes. */

const service = useService()
const runbook = useRunbooks(service)
const subscribers = useSubscribers(service)
captureOutput()

const SecretId = 'sealing-key'
const put = (SecretString: string, more = {}) =>
  new SecretsManagerClient().send(new PutSecretValueCommand({ SecretId, SecretString, ...more }))

/** Replaces the sealing key, and returns the function that returns it. */
const loseKey = async () => {
  const { VersionId, SecretString = '' } = await new SecretsManagerClient().send(
    new GetSecretValueCommand({ SecretId }),
  )
  for (const n of [1, 2]) await put(`a key of another stage ${n}`)
  return () => put(SecretString, { ClientRequestToken: VersionId, VersionStages: ['again'] })
}

runbook('operations.md#dead-letters')(
  'an event that could not be sent becomes a dead letter, and is delivered after the redrive',
  async ({ run, values }) => {
    const { provider } = await subscribers.subscribe('unsigned', CREATED)
    const returnKey = await loseKey()
    const reference = await provider.charge()
    await advance(service, 900)
    const counts: Shown[] = await run('dead-letters list', expect.any(Array))
    const [{ queue, count }] = counts.filter((row) => row.count > 0)
    values.submissions = queue
    // The sweep has sent the event again, too.
    const letters = Array(count).fill({ kind: 'failed', reason: null, subject: { reference } })
    await run('dead-letters list', [{ count, letters }])
    await returnKey()
    await run('dead-letters redrive', { moved: count, remaining: 0 })
    await subscribers.receiver.events(reference, 1)
  },
)
