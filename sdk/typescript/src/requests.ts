import type { Reply } from './reply.ts'
import type { Request } from './transport.ts'

type Params = NonNullable<Request['params']>

export const readOf = (operation: string, path: string, params: Params): Request => ({
  operation,
  method: 'GET',
  path,
  params,
})

export const postOf = (operation: string, path: string, params: Params): Request => ({
  ...readOf(operation, path, params),
  method: 'POST',
})

export const dataIn = <Data>(reply: Reply): Data => reply.envelope?.data as Data
