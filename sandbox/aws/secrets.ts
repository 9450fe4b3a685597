import { randomBytes, randomUUID } from 'node:crypto'
import { InvalidRequestException, ResourceNotFoundException } from '@aws-sdk/client-secrets-manager'
import type { Journal, SecretVersion } from './journal.ts'

/** The sealing key of Secrets Manager, with its versions and their staging labels. */

type Input = { SecretId: string }
type ReadInput = Input & { VersionId?: string; VersionStage?: string }
type PutInput = Input & {
  SecretString: string
  ClientRequestToken?: string
  VersionStages?: readonly string[]
}
type StageInput = Input & {
  VersionStage: string
  MoveToVersionId?: string
  RemoveFromVersionId?: string
}

const CURRENT = 'AWSCURRENT'
const PREVIOUS = 'AWSPREVIOUS'

const notFound = (message: string) => {
  const missing = `Secrets Manager can't find the specified secret value for ${message}`
  const error = { $metadata: { httpStatusCode: 400 }, message: missing }
  return new ResourceNotFoundException(error)
}

/** Every sandbox begins with the same key, so that the data of an earlier process opens. */
const first: SecretVersion = {
  id: '5a0db0c5-0000-4000-8000-000000000001',
  text: 'sandbox',
  stages: [CURRENT],
}

type Versions = readonly SecretVersion[]

const withoutStage = (list: Versions, stage: string) =>
  list.map((version) => ({ ...version, stages: version.stages.filter((one) => one !== stage) }))

const move = (list: Versions, stage: string, to: string) =>
  withoutStage(list, stage).map((version) =>
    version.id === to ? { ...version, stages: [...version.stages, stage] } : version,
  )

const attach = (list: Versions, stage: string, to: string) => {
  const holder = list.find(({ stages }) => stages.includes(stage))
  const moved = move(list, stage, to)
  return stage === CURRENT && holder && holder.id !== to ? move(moved, PREVIOUS, holder.id) : moved
}

export type Secrets = ReturnType<typeof newSecrets>

export const newSecrets = (journal: Journal) => {
  let versions: Versions = [first]

  /** A version without a label is deprecated, and AWS may delete it: this service does at once. */
  const store = (next: Versions): void => {
    versions = next.filter(({ stages }) => stages.length > 0)
    journal.write({ secret: versions })
  }

  const find = ({ VersionId, VersionStage }: ReadInput): SecretVersion => {
    const stage = VersionStage ?? (VersionId ? undefined : CURRENT)
    const found = versions.find(
      ({ id, stages }) =>
        (!VersionId || id === VersionId) && (stage === undefined || stages.includes(stage)),
    )
    if (found) return found
    throw notFound(VersionId ? `VersionId: ${VersionId}` : `staging label: ${stage}`)
  }

  const described = ({ id, stages }: SecretVersion) => ({ VersionId: id, VersionStages: stages })

  return {
    versions: () => versions,
    restore: (earlier: Versions): void => {
      versions = earlier
    },
    calls: {
      GetSecretValueCommand: (input: ReadInput) => {
        const version = find(input)
        return { ARN: input.SecretId, SecretString: version.text, ...described(version) }
      },
      PutSecretValueCommand: (input: PutInput) => {
        const { SecretString: text, ClientRequestToken: id = randomUUID() } = input
        const { VersionStages: stages = [CURRENT] } = input
        const existing = versions.find((version) => version.id === id)
        if (existing && existing.text !== text) throw new Error(`Version ${id} exists`)
        const all = existing ? versions : [...versions, { id, text, stages: [] }]
        store(stages.reduce((list, stage) => attach(list, stage, id), all))
        return { ARN: input.SecretId, ...described(find({ ...input, VersionId: id })) }
      },
      UpdateSecretVersionStageCommand: (input: StageInput) => {
        const { SecretId, VersionStage: stage } = input
        const { MoveToVersionId: to, RemoveFromVersionId: from } = input
        if (to) find({ SecretId, VersionId: to })
        const holder = versions.find(({ stages }) => stages.includes(stage))
        if (holder && holder.id !== to && holder.id !== from) {
          const message = `The staging label ${stage} is attached to ${holder.id}: name that version`
          throw new InvalidRequestException({ $metadata: { httpStatusCode: 400 }, message })
        }
        store(to ? attach(versions, stage, to) : withoutStage(versions, stage))
        return { ARN: SecretId }
      },
      GetRandomPasswordCommand: ({ PasswordLength = 32 }: { PasswordLength?: number }) => ({
        RandomPassword: randomBytes(PasswordLength).toString('hex').slice(0, PasswordLength),
      }),
      ListSecretVersionIdsCommand: ({ SecretId }: Input) => ({
        ARN: SecretId,
        Versions: versions.map(described),
      }),
    },
  }
}
