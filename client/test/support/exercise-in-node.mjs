import * as petstore from '@petstore/client'
import { exercise } from './exercise.mjs'

const [, , baseUrl, apiKey] = process.argv
console.log(JSON.stringify({ version: process.version, ...(await exercise(petstore, baseUrl, apiKey)) }))
