/** Words that agents use all the time. No rule may match a text that consists of them. */
export const commonWords: readonly string[] = `
  the be to of and a in that have i it for not on with he as you do at this but his by from they we
  say her she or an will my one all would there their what so up out if about who get which go me when
  make can like time no just him know take people into year your good some could them see other than
  then now look only come its over think also back after use two how our work first well way even new
  want because any these give day most us is are was were been has had did does said made found went
  being where why very through between before must each under while last might great old off came
  right too place same few such here again still own both below every another never always often code
  file test tests line function value error message key keys token tokens password passwords secret
  secrets login user username name names machine enable disable server client request response session
  cookie header credential credentials account access auth authorization bearer api service database
  table row column query index cache queue worker process thread lock memory build deploy release
  version branch commit merge change fix bug issue review report result output input path folder
  module package library option setting default config environment variable constant type class method
  object array list string number true false null check run read write start stop open close send
  receive connect connection network port host address url link page field form button window event
  listener handler callback promise async wait retry timeout limit rate size length count total amount
  average set reset update delete create insert remove add copy move rename save load store backup
  restore log logs debug trace warning info fail failed failure pass passed passes passphrase passcode
  seed salt hash sign signature verify verifier certificate private public encrypt decrypt wifi
  wireless router switch cisco privilege admin root owner role permission policy rule pattern match
  search find replace filter sort group order plan step task job pipeline stage container image
  cluster node pod volume disk storage bucket region zone cloud local remote production staging
  development documentation configuration implementation authentication deployment
`
  .trim()
  .split(/\s+/)
