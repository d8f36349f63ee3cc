export { type Listener, type ListenOptions, listen } from './listen.ts'
export { networkOf } from './network.ts'
export {
  DEFAULT_BODY_BYTES,
  type Handler,
  type HttpRequest,
  MAX_BODY_BYTES,
  type RequestHeaders,
  RequestProblem,
} from './request.ts'
export {
  type BodyOutput,
  type HttpResponse,
  headerLines,
  type LiveBody,
  type ResponseBody,
} from './response.ts'
export { readTls, type Tls } from './tls.ts'
