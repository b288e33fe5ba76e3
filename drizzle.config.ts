import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './shared/schema/schema.ts',
  out: './shared/schema/migrations',
})
