import { expect, test } from 'vitest'
import { openApiText } from '../../openapi/document.ts'
import { useService } from '../support/running-service.ts'

const service = useService()

test('the sandbox serves the API description', async () => {
  const response = await fetch(`${service.sandbox().address}/openapi.json`)
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(await response.text()).toBe(openApiText())
})

test('the headers of the reference page forbid other hosts', async () => {
  const response = await fetch(`${service.sandbox().address}/docs`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await response.text()).not.toMatch(/https?:/)
})
